import { ALL_SIGNALS, type SeriesScope } from './series.ts'
import type { VerdictRow } from './verdict-row.ts'

/** Notices when signals of a domain begin or cease to stray. */
export class SignalChanges {
  /** By scope: which signals stray, and how. */
  private readonly states = new Map<string, string>()

  /** @param moved called with each domain of which signals have another state than at the tick before */
  constructor(private readonly moved: (orgId: string, domainId: string) => void) {}

  /** Takes what was judged at a tick: of scopes that stand for every signal of a domain, all rows that are open. */
  take(scopes: readonly SeriesScope[], rows: readonly VerdictRow[]): void {
    const byScope = Map.groupBy(rows, ({ scope }) => scope)
    for (const scope of scopes) {
      if (scope.vendor !== ALL_SIGNALS) continue
      const open = (byScope.get(scope) ?? []).filter((row) => row.open)
      const state = JSON.stringify(open.map(({ vendor, event, state, explained }) => [vendor, event, state, explained]))
      const key = `${scope.domainId} ${scope.sensitivity} ${scope.timezone}`
      if (state === (this.states.get(key) ?? '[]')) continue
      if (open.length > 0) this.states.set(key, state)
      else this.states.delete(key)
      this.moved(scope.orgId, scope.domainId)
    }
  }
}
