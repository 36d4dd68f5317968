import type { Atom } from './atom.ts'

// Optimisation: see docs/develop/tuning.md

/**
 * Maximum number of cached texts. Caching is effective because the names of pages, currencies and sessions repeat.
 * Longer texts are not cached.
 */
const MAX_TEXTS = 1000
const MAX_CHARACTERS = 300
/**
 * Maximum number of characters in all caches of the process. There is one cache per domain and parameter used in rules.
 */
const MAX_TOTAL_CHARACTERS = 16 * 1024 * 1024
/** Overhead of a cached text, in characters. */
const OVERHEAD = 64

/** All caches that are not empty. */
const filled = new Set<TextCache>()
let totalCharacters = 0

/** Cache of the atoms in an index that are true for recent texts. */
export class TextCache {
  private readonly known = new Map<string, readonly Atom[]>()
  private characters = 0

  /** Returns the atoms that are true for the text, calling `search` when the text is not cached. */
  recall(text: string, search: () => readonly Atom[]): readonly Atom[] {
    const known = this.known.get(text)
    if (known) return known
    const found = search()
    if (text.length > MAX_CHARACTERS) return found
    if (this.known.size >= MAX_TEXTS) this.clear()
    this.keep(text, found)
    return found
  }

  /** Empties the cache. Must be called when the index changes. */
  clear(): void {
    this.known.clear()
    filled.delete(this)
    totalCharacters -= this.characters
    this.characters = 0
  }

  private keep(text: string, found: readonly Atom[]): void {
    const characters = text.length + found.length + OVERHEAD
    if (totalCharacters + characters > MAX_TOTAL_CHARACTERS) for (const memory of filled) memory.clear()
    this.known.set(text, found)
    filled.add(this)
    this.characters += characters
    totalCharacters += characters
  }
}

export const NO_ATOMS: readonly Atom[] = []
