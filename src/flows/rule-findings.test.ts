import { describe, expect, test } from 'bun:test'
import type { Alert } from '../alerts/alert.ts'
import { OrganizationRules } from '../alerts/organization-rules.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { ruleFindings } from './rule-findings.ts'
import { runEvent, stepResult } from './run-result.fixture.ts'
import type { RunEvent } from './run-result.ts'

const purchase = runEvent({ step: 1, event: 'purchase', params: { mail: 'ann@example.com' } })
const rule = (fields: Partial<Alert>) =>
  ({ id: 'alr_1', name: 'Order has a number', alertType: 'data_validation', enabled: true, ...fields }) as Alert
const blank = (parameter: string): Partial<Alert> => ({
  conditions: { logic: 'any', items: [{ parameter, op: 'is_blank' }] },
})

async function findings(alerts: Alert[], events: RunEvent[] = [purchase], domainId: string | null = 'dom_1') {
  const book = new OrganizationRules()
  for (const alert of alerts) book.set(alert)
  const steps = [stepResult(), stepResult({ index: 1, title: 'Click “Buy”' })]
  return await ruleFindings(
    { runId: 'run_1', orgId: 'org_1', domainId, steps, events },
    {
      judge: async (stored) => stored.map((event) => book.brokenBy(event) ?? []),
      alertOf: (id) => alerts.find((alert) => alert.id === id) ?? null,
      privacy: PLAIN_PRIVACY,
    },
  )
}

describe('findings of active rules', () => {
  test('name the alert and describe the violation', async () => {
    expect(await findings([rule(blank('id'))])).toEqual([
      {
        kind: 'rule',
        step: 1,
        vendor: 'Google Analytics 4',
        event: 'purchase',
        sentence:
          'Google Analytics 4 purchase triggers the alert “Order has a number” in step 2, Click “Buy”: it had no `id`',
        expected: 'no event that breaks the rule',
        observed: 'no `id`',
      },
    ])
  })

  test('include each kind of event once', async () => {
    const events = [purchase, purchase, { ...purchase, event: 'refund' }]
    expect((await findings([rule(blank('id'))], events)).map(({ event }) => event)).toEqual(['purchase', 'refund'])
  })

  test.each<[string, Partial<Alert>, string | null, number]>([
    ['of the domain', { ...blank('id'), domainId: 'dom_1' }, 'dom_1', 1],
    ['of another domain', { ...blank('id'), domainId: 'dom_2' }, 'dom_1', 0],
    ['of a domain, for a test without one', { ...blank('id'), domainId: 'dom_1' }, null, 0],
    ['of all domains, for a test without one', blank('id'), null, 1],
    ['that is disabled', { ...blank('id'), enabled: false }, 'dom_1', 0],
    ['for another vendor', { ...blank('id'), vendors: ['Hotjar'] }, 'dom_1', 0],
    ['on the title, which is unknown in a run', blank('$title'), 'dom_1', 0],
    ['on the session, which is the run', blank('$sessionId'), 'dom_1', 0],
    [
      'on the status of a request answered by the browser',
      { conditions: { logic: 'any', items: [{ parameter: '$status', op: 'not_equals', values: ['ok'] }] } },
      'dom_1',
      0,
    ],
  ])('have the expected number for a rule %s', async (_name, fields, domainId, count) => {
    expect(await findings([rule(fields)], [{ ...purchase, answered: true }], domainId)).toHaveLength(count)
  })

  test('contain no personal data', async () => {
    const alert = rule({ conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] } })
    const [finding] = await findings([alert], [{ ...purchase, event: 'ann@example.com' }])
    expect(finding?.sentence).toContain('an e-mail address in a parameter')
    expect(JSON.stringify(finding)).not.toContain('ann@')
  })
})
