import { MAX_RULE_COST } from '../conditions/condition.ts'
import type { Meter } from '../conditions/evaluation-time-limit.ts'
import type { PhoneRegions } from '../conditions/find-phone-numbers.ts'
import { resolveLabels } from '../conditions/label-conditions.ts'
import { NO_RULES } from '../conditions/rule-set.ts'
import type { StoredEvent } from '../core/event.ts'
import type { BatchJudge, Judge } from '../ingest/decode-batch.ts'
import { membersOf } from '../labels/store.ts'
import type { Db } from '../store/database.ts'
import { type Alert, domainsOf } from './alert.ts'
import { iterateAlerts, type StoredAlert, storedAlerts } from './alert-store.ts'
import { type AlertRule, OrganizationRules } from './organization-rules.ts'
import { TimeSlices } from './organization-time-quota.ts'
import { isJudgedOnArrival } from './types/index.ts'

/** The rules and settings of one organization. */
interface OrganizationEntry {
  /** The rules that are evaluated when events are received. */
  onArrival: OrganizationRules
  late: LateRules
  regions: PhoneRegions
}

/** The state of a rule when it was last read. */
interface KnownRule {
  orgId: string
  /** The alert's fingerprint when it was read; null when the labels that it names have changed since. */
  fingerprint: StoredAlert['fingerprint'] | null
  namesLabel: boolean
}

/** Called for every changed rule. `rule` is null when the rule was deleted. */
export type RuleListener = (orgId: string, id: string, rule: AlertRule | null) => void

/**
 * In-memory cache of the enabled validation rules of all organizations. A changed rule is reread only when the next
 * event is evaluated, because changes come in bursts and inside transactions.
 */
export class ActiveRules {
  private readonly entries = new Map<string, OrganizationEntry>()
  private readonly known = new Map<string, KnownRule>()
  private readonly staleIds = new Set<string>()
  private isAllStale = true
  private readonly changedBooks = new Set<OrganizationRules>()
  private readonly slices = new TimeSlices()
  private readonly listeners: RuleListener[] = []

  constructor(
    private readonly db: Db,
    /** Returns the countries whose national phone numbers an organization recognises. */
    readonly regionsOf: (orgId: string) => PhoneRegions,
  ) {}

  /** Evaluates an event without a time limit. */
  readonly judge: Judge = (event) => this.brokenBy(event) ?? NO_RULES

  /** Evaluates the events of one batch within the organization's time limit. */
  readonly judgeBatch = (orgId: string): BatchJudge => {
    // Time spent reading changed rules does not count towards the organization's limit.
    this.refresh()
    const { meter, end } = this.slices.begin(orgId)
    let events = 0
    const batch = {
      isOutOfTime: false,
      end: () => end(events),
      judge: (event: StoredEvent): string[] => {
        events++
        const broken = batch.isOutOfTime ? null : this.brokenBy(event, meter)
        batch.isOutOfTime = broken === null
        return broken ?? NO_RULES
      },
    }
    return batch
  }

  /**
   * Like `judgeBatch`, for all events at once: returns the ids of the alerts that each event violates, or null when time
   * runs out.
   */
  readonly judgeAll = (orgId: string, events: readonly StoredEvent[]): string[][] | null => {
    const batch = this.judgeBatch(orgId)
    const violations = events.map(batch.judge)
    batch.end()
    return batch.isOutOfTime ? null : violations
  }

  /** Marks these alerts, or all alerts, as changed. */
  readonly changed = (ids?: readonly string[]): void => {
    if (ids) for (const id of ids) this.staleIds.add(id)
    else this.isAllStale = true
  }

  /** Rereads an organization's settings. To be called after the settings change. */
  readonly organizationChanged = (orgId: string): void => {
    const entry = this.entries.get(orgId)
    if (entry) entry.regions = this.regionsOf(orgId)
  }

  /** Rereads an organization's rules that name labels. To be called after the labels change. */
  readonly labelsChanged = (orgId: string): void => {
    for (const [id, known] of this.known) {
      if (known.orgId !== orgId || !known.namesLabel) continue
      known.fingerprint = null
      this.staleIds.add(id)
    }
  }

  /** Registers a listener for changes. */
  onChange(listener: RuleListener): void {
    this.listeners.push(listener)
  }

  /** Yields the enabled validation rules of an organization, with their labels resolved. */
  *rulesOf(orgId: string): Generator<AlertRule> {
    const members = membersOf(this.db, orgId)
    for (const alert of iterateAlerts(this.db, orgId)) if (isJudgedOnArrival(alert)) yield resolveLabels(alert, members)
  }

  /**
   * Returns a rule's fraction (0 to 1) of the total cost of its organization's rules, for rules that are too expensive
   * to evaluate on arrival; null for other rules. Must not be called in a transaction, because it reads changed rules.
   */
  readonly lateShareOf = (orgId: string, id: string): number | null => {
    this.refresh()
    return this.entries.get(orgId)?.late.shareOf(id) ?? null
  }

  /** Reads changed rules. Called at startup before events are received, because the first read can be slow. */
  refresh(): void {
    if (!this.isAllStale && this.staleIds.size === 0) return
    if (this.isAllStale) this.readAll()
    else this.read([...this.staleIds])
    this.staleIds.clear()
    for (const book of this.changedBooks) book.prepare()
    this.changedBooks.clear()
  }

  private brokenBy(event: StoredEvent, meter?: Meter): string[] | null {
    this.refresh()
    const entry = this.entries.get(event.orgId)
    if (entry?.late.mayApplyTo(event)) return null
    return entry ? entry.onArrival.brokenBy(event, meter) : NO_RULES
  }

  private readAll(): void {
    this.isAllStale = false
    for (const [orgId, entry] of this.entries) entry.regions = this.regionsOf(orgId)
    const gone = new Set(this.known.keys())
    for (const stored of storedAlerts(this.db)) {
      gone.delete(stored.id)
      this.put(stored)
    }
    for (const id of gone) this.remove(id)
  }

  private read(ids: readonly string[]): void {
    const found = new Map(storedAlerts(this.db, ids).map((stored) => [stored.id, stored]))
    for (const id of ids) {
      const stored = found.get(id)
      if (stored) this.put(stored)
      else this.remove(id)
    }
  }

  private put({ id, orgId, fingerprint, cost, read }: StoredAlert): void {
    if (this.known.get(id)?.fingerprint === fingerprint) return
    const alert = read()
    const rule = resolveLabels(alert, membersOf(this.db, orgId))
    this.known.set(id, { orgId, fingerprint, namesLabel: rule !== alert })
    const { onArrival: book, late } = this.entryOf(orgId)
    if (!isJudgedOnArrival(alert)) late.delete(id)
    if (isJudgedOnArrival(alert) && late.set(rule, cost)) book.delete(id)
    else book.set(rule)
    this.changedBooks.add(book)
    for (const notify of this.listeners) notify(orgId, id, rule)
  }

  private remove(id: string): void {
    const known = this.known.get(id)
    if (!known) return
    this.known.delete(id)
    const entry = this.entries.get(known.orgId)
    entry?.onArrival.delete(id)
    entry?.late.delete(id)
    for (const notify of this.listeners) notify(known.orgId, id, null)
  }

  private entryOf(orgId: string): OrganizationEntry {
    const known = this.entries.get(orgId)
    if (known) return known
    const book = new OrganizationRules(() => entry.regions)
    const entry: OrganizationEntry = { regions: this.regionsOf(orgId), onArrival: book, late: new LateRules() }
    this.entries.set(orgId, entry)
    return entry
  }
}

/** Maximum total cost, as returned by `costOf`, of an organization's rules that are evaluated on arrival. */
export const MAX_ARRIVAL_COST = 200_000

interface LateRule {
  cost: number
  domainIds: ReadonlySet<string>
  vendors: ReadonlySet<string>
}

/**
 * The rules of one organization that are too expensive to compile and evaluate on arrival. Events to which they may
 * apply are evaluated later, in a separate process.
 */
class LateRules {
  private readonly late = new Map<string, LateRule>()
  private readonly onArrival = new Map<string, number>()
  private arrivalCost = 0

  /** Adds or replaces a rule. Returns true when the rule is evaluated late. */
  set(alert: Pick<Alert, 'id' | 'domainId' | 'domainIds' | 'vendors'>, cost: number): boolean {
    this.delete(alert.id)
    if (cost <= MAX_RULE_COST && this.arrivalCost + cost <= MAX_ARRIVAL_COST) {
      this.onArrival.set(alert.id, cost)
      this.arrivalCost += cost
      return false
    }
    const [domainIds, vendors] = [new Set(domainsOf(alert)), new Set(alert.vendors)]
    this.late.set(alert.id, { cost, domainIds, vendors })
    return true
  }

  delete(id: string): void {
    this.late.delete(id)
    this.arrivalCost -= this.onArrival.get(id) ?? 0
    this.onArrival.delete(id)
  }

  /** True when at least one of the rules may apply to the event. */
  mayApplyTo({ domainId, vendor }: Pick<StoredEvent, 'domainId' | 'vendor'>): boolean {
    if (this.late.size === 0) return false
    const has = (set: ReadonlySet<string>, value: string) => set.size === 0 || set.has(value)
    return this.late.values().some(({ domainIds, vendors }) => has(domainIds, domainId) && has(vendors, vendor))
  }

  /**
   * Returns the rule's fraction (0 to 1) of the total cost of the organization's rules; null for rules that are not
   * late.
   */
  shareOf(id: string): number | null {
    const rule = this.late.get(id)
    if (!rule) return null
    return rule.cost / this.late.values().reduce((sum, { cost }) => sum + cost, this.arrivalCost)
  }
}
