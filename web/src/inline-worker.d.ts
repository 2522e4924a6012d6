/** The worker's script. Written by the build. */
declare const source: string;
export default source;
