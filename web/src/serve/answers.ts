// Answers the calls on a port.
import { serializeError } from "../errors.js";
import type { Answer, Call, Port } from "../wire.js";

/** Answers each call on `port` by what `work` returns or throws. Returns a function that sends another answer. */
export function answered(
  port: Port,
  work: (on: number, call: string, args: unknown[]) => Promise<unknown>,
): (answer: Answer) => void {
  const send = (answer: Answer, transfer: Transferable[] = []) => port.postMessage(answer, transfer);
  port.onmessage = async ({ data: { id, on, call, args } }: MessageEvent<Call>) => {
    try {
      const value = await work(on, call, args);
      send({ id, value }, buffers(value));
    } catch (error) {
      send({ id, error: serializeError(error) });
    }
  };
  return send;
}

/** The buffers in an answer. They are new, so they can be transferred. */
function buffers(value: unknown): ArrayBuffer[] {
  const parts =
    typeof value === "object" && value !== null && !ArrayBuffer.isView(value) ? Object.values(value) : [value];
  return parts.filter((part) => ArrayBuffer.isView(part)).map(({ buffer }) => buffer as ArrayBuffer);
}
