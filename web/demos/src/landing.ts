// The list of demos needs no engine: only the theme.
import { ready } from "./page.js";

ready();
