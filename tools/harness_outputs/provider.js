// A provider with made-up answers.
const STORIES = {
  key: "Mara found a brass key under the step. She tried every lock of the house. It opened the old clock, and inside lay a letter.",
  kite: "Theo built a kite from an old shirt. The wind took it over the roof. A neighbour brought it back the next day.",
};
module.exports = class {
  constructor(options) { this.providerId = options.id || 'stub'; this.label = options.label; }
  id() { return this.providerId; }
  async callApi(prompt, context) {
    const story = STORIES[context.vars.topic];
    return story ? { output: `${story}` } : { error: 'the model did not answer' };
  }
};
