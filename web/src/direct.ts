// The engine for the caller's own thread.
export { serve } from "./serve/serve.js";
