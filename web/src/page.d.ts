/** The HTML page that shows one model, with a place for its file. Written by the build. */
declare const text: string;
export default text;
