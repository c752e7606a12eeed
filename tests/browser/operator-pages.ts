/** The pages of an operator: those of the menu, and those that they lead to. */
export const operatorPages = [
  '#/operator/live',
  '#/operator/traffic',
  '#/operator/to-look-at',
  '#/operator/catalog',
  '#/operator/catalog/assets',
  '#/operator/keys',
  '#/operator/lookup',
  '#/operator/lookup/10/no-such-purchase',
  '#/operator/link',
]
