/** Time after which used browser time counts half, in milliseconds. */
const HALF_LIFE_MS = 60 * 60 * 1000

interface Use {
  /** Milliseconds used until `at`, with older ones counting less. */
  usedMs: number
  at: number
  running: number
}

/** Browser time that each organization used recently. An hour ago counts half, two hours ago a quarter. */
export class BrowserTime {
  private readonly uses = new Map<string, Use>()

  /** `now` returns milliseconds that never go back. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Returns milliseconds, browsers that still run included; 0 for an organization without any. */
  usedBy(orgId: string): number {
    const use = this.uses.get(orgId)
    return use ? this.usedUntilNow(use) : 0
  }

  /** Counts a browser of the organization from now on. Returns what ends that. */
  begin(orgId: string): () => void {
    const change = (by: 1 | -1) => {
      const use = this.uses.get(orgId) ?? { usedMs: 0, at: this.now(), running: 0 }
      const usedMs = this.usedUntilNow(use)
      this.uses.set(orgId, { usedMs, at: this.now(), running: use.running + by })
    }
    change(1)
    return () => change(-1)
  }

  private usedUntilNow({ usedMs, at, running }: Use): number {
    const passedMs = this.now() - at
    return usedMs * 0.5 ** (passedMs / HALF_LIFE_MS) + running * passedMs
  }
}
