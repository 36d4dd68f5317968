import type { Condition } from '../../../conditions/condition.ts'
import { filtersSql } from '../../../conditions/condition-sql.ts'
import { resolveLabelConditions } from '../../../conditions/label-conditions.ts'
import type { MembersOf } from '../../../labels/label.ts'
import { type Dialect, isStorable } from '../../../warehouse/dialect.ts'
import type { AnyTest, Binder } from '../../../warehouse/query.ts'
import { domainsOf } from '../../alert.ts'
import { keyOf, type Matcher, type Plan } from './journey-plan.ts'

/** An alert whose sessions are queried. */
export interface JourneyAlert {
  id: string
  plan: Plan
  domainId?: string
  domainIds?: string[]
  filters?: readonly Condition[]
}

/** The SQL expressions of one alert. */
export interface AlertSql {
  id: string
  /** Boolean SQL: true when the event matches any matcher of the plan. */
  hit: string
  code: string
  text: string
  /** The alert's id when the alert evaluates the session, otherwise NULL. */
  inScope: string
  /** Aggregate over the events of one sender: false when the alert can't apply to any of the sender's sessions. */
  matters: string
  /** True when a session without any matching event may violate the journey. */
  fromStart: boolean
}

/** Collects one boolean column per matcher and filter. Alerts with equal matchers share columns. */
export class JourneyColumns {
  /** Boolean expressions by column name. */
  readonly columns = new Map<string, string>()
  readonly matcherColumns: string[] = []
  readonly filterColumns: string[] = []
  readonly keys = new Set<string>()
  readonly anyTests: AnyTest[] = []
  wholeParams = false
  private readonly known = new Map<string, string>()

  constructor(
    private readonly binder: Binder,
    private readonly membersOf: MembersOf,
  ) {}

  alert(alert: JourneyAlert): AlertSql {
    const { plan, filters = [] } = alert
    const { dialect } = this.binder
    const id = this.binder.bind(alert.id)
    const matchers = plan.matchers.map((matcher) => this.matcherColumn(matcher))
    const domains = this.binder.among('domainId', domainsOf(alert))
    const filter = filters.length > 0 ? [this.filterColumn(filters)] : []
    const chosen = [...domains, ...filter]
    const first = requiredMatcher(plan)
    const reached = first === null ? [] : [matchers[first] ?? NEVER]
    return {
      id,
      hit: [...domains, matchers.length > 0 ? `(${matchers.join(' OR ')})` : NEVER].join(' AND '),
      code: matchers.length > 0 ? codeSql(dialect, matchers) : "''",
      text: matchers.length > 0 ? shapeSql(dialect, matchers) : "''",
      inScope: chosen.length > 0 ? `CASE WHEN ${chosen.join(' AND ')} THEN ${id} END` : id,
      matters: [...domains, ...[...reached, ...filter].map(dialect.anyTrue), ALWAYS].join(' AND '),
      fromStart: first === null,
    }
  }

  /** Returns a domain filter; empty when an alert watches every domain. */
  inAnyDomain(alerts: readonly JourneyAlert[]): string[] {
    const lists = alerts.map(domainsOf)
    const union = lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())]
    return this.binder.among('domainId', union)
  }

  private matcherColumn(matcher: Matcher): string {
    return this.column(this.matcherColumns, 'matcher', keyOf(matcher), () => this.matcher(matcher))
  }

  private filterColumn(filters: readonly Condition[]): string {
    return this.column(this.filterColumns, 'filter', JSON.stringify(filters), () => this.conditions(filters))
  }

  private column(list: string[], kind: string, key: string, write: () => string): string {
    const known = this.known.get(`${kind} ${key}`)
    if (known !== undefined) return known
    const name = `${kind}${list.push('') - 1}`
    list[list.length - 1] = name
    this.known.set(`${kind} ${key}`, name)
    this.columns.set(name, write())
    return name
  }

  private matcher({ page, label, vendor, event, data }: Matcher): string {
    const tests = [
      ...(page ? [this.page(page)] : []),
      ...(label === null ? [] : [this.label(label)]),
      ...this.named({ vendor, event }),
      ...(data.length > 0 ? [this.conditions(data)] : []),
    ]
    // A matcher without requirements matches any event.
    return tests.length > 0 ? `(${tests.join(' AND ')})` : ALWAYS
  }

  private page({ op, path }: NonNullable<Matcher['page']>): string {
    const text = this.text(path)
    if (text === null) return NEVER
    if (op === 'equals') return `coalesce(path = ${text}, false)`
    const { dialect } = this.binder
    const test = op === 'contains' ? dialect.contains('path', text) : dialect.startsWith('path', text)
    return `coalesce(${test}, false)`
  }

  private label(label: string): string {
    const members = this.membersOf(label).map((member) => this.named(member))
    const tests = members.flatMap((tests) => (tests.length > 0 ? [`(${tests.join(' AND ')})`] : []))
    return tests.length > 0 ? `(${tests.join(' OR ')})` : NEVER
  }

  private named({ vendor, event }: { vendor?: string | null; event?: string | null }): string[] {
    return Object.entries({ vendor, event }).flatMap(([column, value]) => {
      if (!value) return []
      const text = this.text(value)
      return [text === null ? NEVER : `${column} = ${text}`]
    })
  }

  private conditions(conditions: readonly Condition[]): string {
    const read = resolveLabelConditions(conditions, this.membersOf)
    const { sql, keys, wholeParams } = filtersSql(read, this.binder, [], this.anyTests)
    for (const key of keys) this.keys.add(key)
    this.wholeParams ||= wholeParams
    return sql
  }

  /** Returns null for a string that no event can contain. */
  private text(text: string): string | null {
    return isStorable(text) ? this.binder.bind(text) : null
  }
}

const NEVER = '(1 = 0)'
const ALWAYS = '(1 = 1)'

/**
 * Returns the index of a matcher that has a match in every failing session and in every session that reached the step;
 * null when there is none.
 */
function requiredMatcher(plan: Plan): number | null {
  return plan.form === 'steps' ? (plan.steps[0]?.anchor ?? null) : (plan.order.at(-1) ?? null)
}

/** Returns SQL for the indexes of the matchers that an event matches: `0,2`. */
const codeSql = ({ joined }: Dialect, matchers: readonly string[]) =>
  joined(
    ',',
    matchers.map((matcher, place) => `CASE WHEN ${matcher} THEN '${place}' END`),
  )

/** Returns SQL that writes the list `hits` of a session in the form that `readShape` parses. */
function shapeSql(dialect: Dialect, matchers: readonly string[]): string {
  const own = (hit: string) => matchers.map((matcher) => `${hit}.${matcher}`)
  return dialect.rowsText(
    'hits',
    (hit) => own(hit).join(' OR '),
    (hit) => `${codeSql(dialect, own(hit))} || '+' || (${hit}.seq - startSeq) || '+' || (${hit}.receivedAt - startAt)`,
    ';',
  )
}
