import type { Atom } from './atom.ts'

/** Texts come again and again: names of pages, currencies, sessions. What is longer is not remembered. */
const MAX_TEXTS = 1000
const MAX_LETTERS = 300
/** What all memories of the process may hold together; every parameter that rules ask for has one, in every domain. */
const MAX_LETTERS_TOGETHER = 16 * 1024 * 1024
/** What a text takes beside its letters, in letters. */
const OVERHEAD = 64

/** Memories that hold something, and how much together. */
const filled = new Set<TextMemory>()
let lettersTogether = 0

/** Which atoms of an index held for the texts that came lately. */
export class TextMemory {
  private readonly known = new Map<string, readonly Atom[]>()
  private letters = 0

  /** The atoms that hold for the text, by `search` when it is not known. */
  recall(text: string, search: () => readonly Atom[]): readonly Atom[] {
    const known = this.known.get(text)
    if (known) return known
    const found = search()
    if (text.length > MAX_LETTERS) return found
    if (this.known.size >= MAX_TEXTS) this.clear()
    this.keep(text, found)
    return found
  }

  /** To be called when the index changes. */
  clear(): void {
    this.known.clear()
    filled.delete(this)
    lettersTogether -= this.letters
    this.letters = 0
  }

  private keep(text: string, found: readonly Atom[]): void {
    const letters = text.length + found.length + OVERHEAD
    if (lettersTogether + letters > MAX_LETTERS_TOGETHER) for (const memory of filled) memory.clear()
    this.known.set(text, found)
    filled.add(this)
    this.letters += letters
    lettersTogether += letters
  }
}

export const NO_ATOMS: readonly Atom[] = []
