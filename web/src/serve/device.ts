// The open device. If it is lost, it is opened again.
import * as wasm from "../../pkg/meromorph.js";
import type { DeviceInfo } from "../types.js";

/** Whether an error means that the device was lost. */
export const isDeviceLoss = (error: unknown): boolean => error instanceof Error && error.name === "DeviceError";

export class Device {
  readonly info: DeviceInfo;
  #engine: wasm.Engine;
  #reopening?: Promise<wasm.Engine> | undefined;

  private constructor(engine: wasm.Engine) {
    this.#engine = engine;
    this.info = engine.info() as DeviceInfo;
  }

  static async open(name: unknown, threads: number): Promise<Device> {
    return new Device(await wasm.open(name, threads));
  }

  get engine(): wasm.Engine {
    return this.#engine;
  }

  /** Whether the device can be lost. The CPU cannot. */
  get canBeLost(): boolean {
    return this.info.device !== "cpu";
  }

  /** Replaces the engine `lost`: opens a device of the same kind, once for all callers. */
  async replace(lost: wasm.Engine): Promise<wasm.Engine> {
    if (this.#engine !== lost) return this.#engine;
    this.#reopening ??= wasm.open(this.info.device, 1).finally(() => {
      this.#reopening = undefined;
    });
    const engine = await this.#reopening;
    if (this.#engine === lost) {
      this.#engine = engine;
      lost.free();
    }
    return this.#engine;
  }
}
