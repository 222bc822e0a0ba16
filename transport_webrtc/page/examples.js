/** Texts to begin with; the first, long enough to hear it adapt, is there from the start. */
const EXAMPLES = {
  "One minute":
    "The wind came up an hour before the ferry was due. At first it only moved the flags along the harbour wall, and nobody " +
    "looked up. Then the water changed its colour, from green to a heavy grey, and the gulls left the masts and settled on the " +
    "roofs of the market. Anna closed her book. She had crossed this strait more often than she could count, and she knew what " +
    "the captain would say before he said it. We shall sail, he would say, but we shall sail slowly. And so it was. The boat " +
    "leaned out of the harbour like an old man leaving a warm room, and every lamp on board swung to the same side. Somewhere " +
    "below a door was knocking, twice, and then twice again. A child asked whether the sea was angry. No, said Anna, it is only " +
    "busy. It has a great deal of water to carry from one place to another, and we happen to be standing in the way. The child " +
    "thought about this for a long time. Then the lights of the other shore came up, one after another, and the knocking stopped.",
  Greeting:
    "Hello, and welcome. I am made while you listen, one small piece after another. If your network gets worse I do not stop; " +
    "I only become a little plainer, and you should not hear the place where I change.",
  Question: "Shall we go on, or would you like to hear that again?",
  Directions: "In two hundred metres, turn left onto Station Road. Then keep right, and follow the signs to the airport.",
};

/**
 * Puts a button for each text into `row`, and one of the texts or `given` into `field`.
 * @param {HTMLElement} row @param {HTMLTextAreaElement} field @param {string | null} given
 */
export function offerExamples(row, field, given) {
  const buttons = Object.entries(EXAMPLES).map(([name, text]) => {
    const button = document.createElement("button");
    Object.assign(button, {type: "button", className: "chip", textContent: name});
    button.addEventListener("click", () => {
      field.value = text;
      press();
    });
    row.append(button);
    return {button, text};
  });
  const press = () => buttons.forEach(({button, text}) => button.setAttribute("aria-pressed", String(field.value === text)));
  field.addEventListener("input", press);
  field.value = given ?? buttons[0].text;
  press();
}
