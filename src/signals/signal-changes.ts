import { ALL_SIGNALS, type SeriesScope } from './series.ts'
import type { VerdictRow } from './verdict-row.ts'

/** Detects when signals of a domain begin or stop deviating. */
export class SignalChanges {
  /** The deviating signals and their states, as JSON, by scope. */
  private readonly states = new Map<string, string>()

  /** @param moved called for each domain in which a signal has changed state since the previous tick */
  constructor(private readonly moved: (orgId: string, domainId: string) => void) {}

  /** Processes the verdicts of a tick. Considers only scopes that cover every signal of a domain. */
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
