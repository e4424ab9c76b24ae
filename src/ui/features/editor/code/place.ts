/** Where somebody is in a text: who has come there before the editor stays there when it comes. */
export interface Place {
  hasFocus: boolean
  anchor: number
  head: number
  top: number
  left: number
}
