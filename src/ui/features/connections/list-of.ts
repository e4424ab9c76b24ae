/** What a person wrote with commas, spaces or line ends between. */
export const listOf = (text: string): string[] => text.split(/[\s,;]+/).filter((part) => part !== '')
