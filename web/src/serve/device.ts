// The open device, opened again where it was lost.
import * as wasm from "../../pkg/meromorph.js";
import type { DeviceInfo } from "../types.js";

/** Whether it is the device that failed. */
export const isLoss = (error: unknown): boolean => error instanceof Error && error.name === "DeviceError";

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

  /** Whether it can be lost: the cpu stays. */
  get isMortal(): boolean {
    return this.info.device !== "cpu";
  }

  /** An engine other than `lost`: a device of the same kind is opened, once for all who lost theirs. */
  async instead(lost: wasm.Engine): Promise<wasm.Engine> {
    if (this.#engine !== lost) return this.#engine;
    this.#reopening ??= wasm.open(this.info.device, 1).finally(() => { this.#reopening = undefined; });
    const engine = await this.#reopening;
    if (this.#engine === lost) {
      this.#engine = engine;
      lost.free();
    }
    return this.#engine;
  }
}
