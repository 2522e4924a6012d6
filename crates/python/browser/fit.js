// Curve fits for Python.
export { CurveFit, fit, fitMany, models } from "../../../web/dist/fit.js";
