import { familyOf } from './address.ts'

/** More addresses than this are not remembered: a crawl looks at 2,000 pages at most. */
const ADDRESSES_MAX = 100_000

/**
 * Which addresses are looked at, and in which order: first those nearest to the start, and of these in turn from each
 * folder of the site, so that few pages show much of it. What it takes depends on the order of its calls alone.
 */
export class Frontier {
  private readonly known = new Set<string>()
  private readonly families = new Map<string, number>()
  private next: string[] = []

  /** `isWanted`: whether an address that was found may be looked at. */
  constructor(private readonly isWanted: (address: string) => boolean) {}

  /** Adds a start page. */
  start(address: string): void {
    if (this.isNew(address)) this.next.push(address)
  }

  /** Adds an address that was found, for the next level; one that is known, unwanted, or one too many of its kind is not. */
  add(address: string): void {
    if (this.known.has(address) || !this.isWanted(address)) return
    const { name, pagesMax } = familyOf(address)
    if (pagesMax !== null) {
      const count = this.families.get(name) ?? 0
      if (count >= pagesMax) return
      this.families.set(name, count + 1)
    }
    if (this.isNew(address)) this.next.push(address)
  }

  /** Notes where a page ended; false when that was known by another address already. */
  isNew(address: string): boolean {
    if (this.known.has(address) || this.known.size >= ADDRESSES_MAX) return false
    this.known.add(address)
    return true
  }

  /** The number of addresses that wait. */
  get waiting(): number {
    return this.next.length
  }

  /** Returns all that were added since the last call, in the order in which they are to be looked at. */
  level(): string[] {
    const folders = Map.groupBy(this.next, folderOf)
    this.next = []
    const lists = [...folders.values()]
    const longest = Math.max(0, ...lists.map(({ length }) => length))
    return Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list[turn] ?? [])).flat()
  }
}

/** `https://shop.example/product/red-shoe?size=4` → `https://shop.example/product/` */
const folderOf = (address: string) => address.replace(/[?].*$/s, '').replace(/[^/]*$/, '')
