/** The script of a memory's worker. Written by the build. */
declare const source: string;
export default source;
