//! Names that other libraries give to options, for hints: `did you mean "hidden"?` to someone who writes `layers`. They are not accepted.

/// A name in snake case, and those it has elsewhere, in lower case without underscores.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("hidden", &["layers", "units", "hiddenunits", "hiddensizes", "hiddenlayersizes", "neurons", "layersizes"]),
    ("epochs", &["iterations", "iters", "maxiter", "maxiterations", "nepochs", "numepochs", "niter", "nestimators"]),
    ("quiet", &["verbose", "verbosity", "silent", "progress"]),
    ("weight", &["sampleweight", "sampleweights", "weights", "instanceweight", "weightcolumn"]),
    ("lr", &["eta", "stepsize", "learningrateinit", "alpha"]),
    ("batch", &["minibatch", "minibatchsize"]),
    ("patience", &["earlystopping", "earlystoppingrounds", "niternochange"]),
    ("validation", &["validationfraction", "validationsize", "validationdata", "valsplit", "valsize"]),
    ("test", &["testfraction", "testdata"]),
    ("target", &["labels", "labelcolumn", "targetcolumn", "y", "output", "outputs", "outcome", "response"]),
    ("features", &["columns", "inputs", "predictors", "x", "featurecolumns"]),
    ("ignore", &["drop", "dropcolumns", "exclude", "skip"]),
    ("categorical", &["categories", "catfeatures", "categoricalfeatures", "categoricalcolumns"]),
    ("group", &["groups", "groupby"]),
    ("loss", &["criterion", "objective", "lossfn"]),
    ("optimizer", &["optim", "solver"]),
    ("activation", &["nonlinearity", "activationfunction"]),
    ("dropout", &["dropoutrate"]),
    ("norm", &["normalization", "normalisation", "batchnorm", "layernorm"]),
    ("weight_decay", &["l2", "regularization", "regularisation", "lambda", "regl2"]),
    ("missing", &["impute", "imputation", "fillna"]),
];

/// The names of options, in snake case, that are called `name` elsewhere.
pub(super) fn meant(name: &str) -> impl Iterator<Item = &'static str> {
    let plain = name.replace(['-', '_'], "").to_ascii_lowercase();
    ELSEWHERE.iter().filter(move |(_, others)| others.contains(&plain.as_str())).map(|(known, _)| *known)
}
