/** The WebAssembly that learns memories: base64 of raw deflate. Written by the build. */
declare const text: string;
export default text;
