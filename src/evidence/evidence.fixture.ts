import { type Cast, cast, testBox } from '../../test/fixtures.ts'
import { alertOf, eventOf, NOON } from '../alerts/alert.fixture.ts'
import type { Alert, AlertInput } from '../alerts/alert.ts'
import { parsePeriod } from '../alerts/alert-period.ts'
import { activeAlerts, createAlert, deleteAlert } from '../alerts/alert-store.ts'
import { samplesQuery, withSamples } from '../alerts/finding-samples.ts'
import { judgeOf } from '../alerts/judge.fixture.ts'
import { measuredTypeOf } from '../alerts/types/index.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Static } from '../core/schema.ts'
import { createDomain } from '../domains/store.ts'
import { performer } from '../http/perform-call.ts'
import type { Principal } from '../http/principal.ts'
import { insightDeps } from '../insights/insight-deps.fixture.ts'
import { insightRoutes } from '../insights/routes.ts'
import { notifier } from '../integrations/delivery/notifier.ts'
import { issueOfAlert, validationAlert, volumeAlert } from '../issues/issue.fixture.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { applyFindings, resolveAll } from '../issues/store.ts'
import { type EventFields, HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import type { History } from '../warehouse/warehouse.ts'
import { type IssueEvidenceSchema, issueEvidence } from './evidence.ts'
import type { IssueProblem } from './issue-problem.ts'

export type Evidence = Static<typeof IssueEvidenceSchema>

export const CALLERS = ['viewer', 'readOnly', 'member', 'admin', 'owner'] as const
export type Caller = (typeof CALLERS)[number]

/** An organization with a shop whose events are evaluated from noon on. */
export class EvidenceFixture {
  readonly people: Cast
  readonly domainId: string
  private readonly enqueue

  private constructor(readonly fixture: WarehouseFixture) {
    const { db, clock } = fixture
    clock.set(HOUR - 30 * DAY_MS)
    this.people = cast(db, clock)
    this.domainId = this.addDomain('Shop')
    this.enqueue = notifier({ db, clock, publicUrl: 'https://watch.example' })
    clock.set(HOUR)
  }

  static async open(): Promise<EvidenceFixture> {
    return new EvidenceFixture(await WarehouseFixture.open())
  }

  addDomain(name: string): string {
    return createDomain(this.fixture.db, this.fixture.clock, this.people.orgId, { name })
  }

  watch(input: Partial<AlertInput>): Alert {
    const channels = [{ type: 'email' as const, target: 'ops@example.com' }]
    const whole = {
      name: 'Purchase has a value',
      alertType: 'data_validation' as const,
      period: '1h',
      channels,
      ...input,
    }
    return createAlert(this.fixture.db, this.fixture.clock, this.people.orgId, whole)
  }

  /** Adds an event this many minutes after noon and evaluates it. */
  async send(minute: number, values: EventFields): Promise<void> {
    const { db, clock } = this.fixture
    clock.set(HOUR + minute * MINUTE_MS)
    const event = { orgId: this.people.orgId, domainId: this.domainId, vendor: 'Shop', event: 'purchase', ...values }
    const judge = judgeOf(activeAlerts(db).map(({ alert }) => alert))
    const violations = judge(eventOf(event))
    await this.fixture.add([{ ...event, violations: violations.length > 0 ? violations : null }])
  }

  /** Evaluates the window between two minutes, at the end of the window. */
  async evaluate(alert: Alert, from: number, to: number): Promise<void> {
    const { db, clock, warehouse } = this.fixture
    clock.set(HOUR + to * MINUTE_MS)
    const window = { from: HOUR + from * MINUTE_MS, to: HOUR + to * MINUTE_MS, complete: true }
    const type = measuredTypeOf(alert.alertType)
    const domains = [{ id: this.domainId, createdAt: 0 }]
    const findings = type.judge(alert, await warehouse.query(type.measure([alert], window, domains)), window, domains)
    const query = samplesQuery(alert.orgId, findings)
    const samples = query ? await warehouse.query<StoredEvent>(query) : []
    const periodMs = parsePeriod(alert.period).lengthMs
    applyFindings(
      db,
      {
        alert: { ...alert, impactValue: null, periodMs },
        findings: withSamples(alert, findings, samples),
        window,
        windowStartAt: window.from,
        inRunWindow: true,
        now: clock.now(),
      },
      this.enqueue,
    )
  }

  /** Returns the id of an alert's issue on the shop domain. */
  issueOf({ id }: Pick<Alert, 'id'>): string {
    const { db } = this.fixture
    const issue = db.prepare('SELECT id FROM issue WHERE alertId = ? AND domainId = ?').pluck().get(id, this.domainId)
    if (typeof issue !== 'string') throw new Error('no issue')
    return issue
  }

  remove({ id, orgId }: Alert): void {
    const { db, clock } = this.fixture
    const hand = { orgId, by: this.people.alice.userId, now: clock.now() }
    deleteAlert(db, { orgId, id }, () => resolveAll(db, id, hand, this.enqueue))
  }

  principal(caller: Caller | 'otherOrg'): Principal {
    const { alice, ada, bob, vera, mallory } = this.people
    const person = { viewer: vera, readOnly: alice, member: bob, admin: ada, owner: alice, otherOrg: mallory }[caller]
    const { userId, orgId, role } = person
    const readOnly = caller === 'readOnly' || role === 'viewer'
    return { via: 'key', userId, orgId, role, readOnly, keyId: null, sessionId: null }
  }

  /** Returns the dependencies of insights. Their counts are complete up to the spool's watermark. */
  insightDeps(warehouse: History = this.fixture.warehouse) {
    const { db, clock, spool } = this.fixture
    return insightDeps({ db, clock, warehouse, watermark: () => spool.watermark() })
  }

  /** Returns the evidence through the production route, which validates it against its schema. */
  async ask(issueId: string, caller: Caller | 'otherOrg' = 'owner', warehouse: History = this.fixture.warehouse) {
    const [route] = insightRoutes(this.insightDeps(warehouse), [issueEvidence(testBox)])
    if (!route) throw new Error('no route')
    const { db } = this.fixture
    const principal = this.principal(caller)
    const call = {
      principal,
      params: { id: issueId },
      query: {},
      body: undefined,
      origin: { address: null, userAgent: null },
      signal: new AbortController().signal,
    }
    return (await performer({ db, audit() {} })(route, call)) as Evidence
  }
}

/** Returns an issue of this alert. `first` and `last`: how long before noon it began and was last seen, in ms. */
export function problemFrom(
  input: AlertInput,
  values: { first: number; last?: number } & Partial<IssueProblem>,
): IssueProblem {
  const { first, last = first, ...others } = values
  const { alertType } = input
  return problemWith(input, { alertType, firstSeenAt: NOON - first, lastSeenAt: NOON - last }, others)
}

/** Returns an issue of this alert with these values. */
export function problemWith(
  input: AlertInput,
  issue: Partial<IssueRecord> = {},
  others: Partial<IssueProblem> = {},
): IssueProblem {
  const facts = input.alertType === 'data_validation' ? validationAlert : volumeAlert
  return {
    issue: issueOfAlert(facts, issue),
    rule: alertOf(input, facts.id),
    followed: null,
    occurrences: [],
    privacy: PLAIN_PRIVACY,
    domainSince: 0,
    timezone: 'UTC',
    now: NOON,
    retainedFrom: 0,
    ...others,
  }
}
