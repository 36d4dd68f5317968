import type { PhoneRegions } from '../conditions/phone.ts'
import type { Judge } from '../ingest/understand.ts'
import type { Db } from '../store/database.ts'
import { compileJudge } from './judge.ts'
import { activeAlerts } from './store.ts'

/** The judge of this moment: compiled at the first event after a change, because changes come in bursts. */
export class RulesInForce {
  private compiled: Judge | null = null

  constructor(
    private readonly db: Db,
    private readonly regionsOf: (orgId: string) => PhoneRegions,
  ) {}

  readonly judge: Judge = (event) => {
    this.compiled ??= compileJudge(
      activeAlerts(this.db).map(({ alert }) => alert),
      this.regionsOf,
    )
    return this.compiled(event)
  }

  /** To be called after every change of alerts. */
  readonly changed = (): void => {
    this.compiled = null
  }
}
