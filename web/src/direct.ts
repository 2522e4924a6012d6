// The engine for use in the caller's own thread.
export { serve } from "./serve/serve.js";
