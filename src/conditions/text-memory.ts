import type { Atom } from './atom.ts'

/** Texts come again and again: names of pages, currencies, sessions. What is longer is not remembered. */
const MAX_TEXTS = 1000
const MAX_LETTERS = 300

/** Which atoms of an index held for the texts that came lately. */
export class TextMemory {
  private readonly known = new Map<string, readonly Atom[]>()

  /** The atoms that hold for the text, by `search` when it is not known. */
  recall(text: string, search: () => readonly Atom[]): readonly Atom[] {
    const known = this.known.get(text)
    if (known) return known
    const found = search()
    if (text.length > MAX_LETTERS) return found
    if (this.known.size >= MAX_TEXTS) this.known.clear()
    this.known.set(text, found)
    return found
  }

  /** To be called when the index changes. */
  clear(): void {
    this.known.clear()
  }
}

export const NO_ATOMS: readonly Atom[] = []
