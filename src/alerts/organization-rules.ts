import { type Meter, UNLIMITED } from '../conditions/evaluation-time-limit.ts'
import type { PhoneRegions } from '../conditions/find-phone-numbers.ts'
import { RuleSet } from '../conditions/rule-set.ts'
import type { StoredEvent } from '../core/event.ts'
import { type Alert, domainsOf } from './alert.ts'
import { isJudgedOnArrival } from './types/index.ts'

/** The fields of an alert that determine which events violate it. */
export type AlertRule = Pick<
  Alert,
  'id' | 'alertType' | 'enabled' | 'domainId' | 'domainIds' | 'vendors' | 'filters' | 'conditions' | 'conditionGroups'
>

/**
 * The enabled validation rules of one organization. Each domain has a separate set for the rules that watch only this
 * domain. An event is evaluated only against its domain's set and the rules for several or all domains.
 */
export class OrganizationRules {
  private readonly shared: RuleSet
  private readonly byDomain = new Map<string, RuleSet>()
  /** Domain id by rule id; null for rules in the shared set. */
  private readonly domainOfRule = new Map<string, string | null>()

  /** `regions`: returns the countries whose national phone numbers the organization recognises. */
  constructor(private readonly regions: () => PhoneRegions = () => []) {
    this.shared = new RuleSet(regions)
  }

  /** Adds or replaces the rule of an alert. Removes the rule when the alert is disabled or has another type. */
  set(alert: AlertRule): void {
    this.delete(alert.id)
    if (!isJudgedOnArrival(alert)) return
    const domainIds = domainsOf(alert)
    const [only] = domainIds
    const place = only !== undefined && domainIds.length === 1 ? only : null
    this.domainOfRule.set(alert.id, place)
    this.ruleSetOf(place).set(alert.id, alert, {
      domainIds: place === null ? domainIds : [],
      vendors: alert.vendors ?? [],
    })
  }

  delete(id: string): void {
    const place = this.domainOfRule.get(id)
    if (place === undefined) return
    this.domainOfRule.delete(id)
    const set = this.ruleSetOf(place)
    set.delete(id)
    if (place !== null && set.size === 0) this.byDomain.delete(place)
  }

  /** Compiles changed rules, so that the next event does not wait for compilation. */
  prepare(): void {
    this.shared.prepare()
    for (const set of this.byDomain.values()) set.prepare()
  }

  /**
   * Returns the ids of the alerts whose rules the event violates, in ascending order. An empty list is always the same
   * object. Null when time has run out.
   */
  brokenBy(event: StoredEvent, meter: Meter = UNLIMITED): string[] | null {
    const shared = this.shared.brokenBy(event, meter)
    const own = this.byDomain.get(event.domainId)?.brokenBy(event, meter)
    if (shared === null || own === null) return null
    if (own === undefined || own.length === 0) return shared
    return shared.length === 0 ? own : [...shared, ...own].sort()
  }

  private ruleSetOf(place: string | null): RuleSet {
    if (place === null) return this.shared
    const known = this.byDomain.get(place)
    if (known) return known
    const set = new RuleSet(this.regions)
    this.byDomain.set(place, set)
    return set
  }
}
