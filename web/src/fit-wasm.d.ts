/** The WebAssembly that fits curves: base64 of raw deflate. Written by the build. */
declare const text: string;
export default text;
