import { type Meter, UNLIMITED } from '../conditions/meter.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import { RuleSet } from '../conditions/rule-set.ts'
import type { StoredEvent } from '../core/event.ts'
import { type Alert, domainsOf } from './alert.ts'
import { isJudgedAtTheDoor } from './types/index.ts'

/** What of an alert decides which events break it. */
export type AlertRule = Pick<
  Alert,
  'id' | 'alertType' | 'enabled' | 'domainId' | 'domainIds' | 'vendors' | 'filters' | 'conditions' | 'conditionGroups'
>

/**
 * The validation rules in force of one organization. Rules of one domain are a set of their own, so that its events cost
 * nothing but them and the rules of several or all domains.
 */
export class RuleBook {
  private readonly shared: RuleSet
  private readonly byDomain = new Map<string, RuleSet>()
  /** The domain of each rule that is in a set of its own; null for the shared ones. */
  private readonly places = new Map<string, string | null>()

  /** `regions`: the countries whose national phone numbers the organization looks for. */
  constructor(private readonly regions: () => PhoneRegions = () => []) {
    this.shared = new RuleSet(regions)
  }

  /** Adds the rule of an alert or replaces it; an alert that is off, or of another type, has none. */
  set(alert: AlertRule): void {
    this.delete(alert.id)
    if (!isJudgedAtTheDoor(alert)) return
    const domainIds = domainsOf(alert)
    const [only] = domainIds
    const place = only !== undefined && domainIds.length === 1 ? only : null
    this.places.set(alert.id, place)
    this.setAt(place).set(alert.id, alert, { domainIds: place === null ? domainIds : [], vendors: alert.vendors ?? [] })
  }

  delete(id: string): void {
    const place = this.places.get(id)
    if (place === undefined) return
    this.places.delete(id)
    const set = this.setAt(place)
    set.delete(id)
    if (place !== null && set.size === 0) this.byDomain.delete(place)
  }

  /** Compiles what changed, which else the next event waits for. */
  prepare(): void {
    this.shared.prepare()
    for (const set of this.byDomain.values()) set.prepare()
  }

  /** Ids of the alerts whose rule the event breaks, ascending; one and the same empty list when none. Null: out of time. */
  brokenBy(event: StoredEvent, meter: Meter = UNLIMITED): string[] | null {
    const shared = this.shared.brokenBy(event, meter)
    const own = this.byDomain.get(event.domainId)?.brokenBy(event, meter)
    if (shared === null || own === null) return null
    if (own === undefined || own.length === 0) return shared
    return shared.length === 0 ? own : [...shared, ...own].sort()
  }

  private setAt(place: string | null): RuleSet {
    if (place === null) return this.shared
    const known = this.byDomain.get(place)
    if (known) return known
    const set = new RuleSet(this.regions)
    this.byDomain.set(place, set)
    return set
  }
}
