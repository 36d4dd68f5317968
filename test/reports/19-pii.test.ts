import { expect, test } from 'bun:test'
import { maskPersonal } from '../../src/conditions/mask-personal-data.ts'
import { personalIn } from '../../src/conditions/personal-data.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { testApp } from '../test-app.ts'
import { describeReport, reportLines } from './bug-report.ts'

interface Case {
  value: string
  contains_email: boolean
}

describeReport('personal data', () => {
  const cases = () => reportLines<Case>('19-pii.ndjson')

  test('is found in values, without false positives', () => {
    for (const { value, contains_email } of cases()) {
      const kinds = personalIn('p', value, PLAIN_PRIVACY).filter(({ isReal }) => isReal)
      expect({ value, found: kinds.length > 0 }).toEqual({ value, found: contains_email })
      expect({ value, isMasked: maskPersonal(value, 'p') !== value }).toEqual({ value, isMasked: contains_email })
    }
  })

  test('is found by the scan and by the preview of an alert', async () => {
    await using t = await testApp()
    const { body: domain } = await t.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    const events = cases().map(({ value, contains_email }, n) => ({
      vendor: 'Own',
      event: 'seen',
      id: `e${n}`,
      params: { [contains_email ? `has${n}` : `hasNot${n}`]: value, p: value },
    }))
    await t.collect(domain.token, { events })
    t.clock.advance(20_000)
    await t.run('flush', 'scan for personal data')
    const { body } = await t.call('GET', '/v1/compliance/pii')
    const keys = body.findings.map(({ key }: { key: string }) => key).sort()
    const expected = cases().flatMap(({ contains_email }, n) => (contains_email ? [`has${n}`] : []))
    expect(keys).toEqual([...expected, 'p'].sort())
    const rule = {
      name: 'Address in p',
      alertType: 'data_validation',
      period: '1h',
      vendors: ['Own'],
      conditions: { logic: 'any', items: [{ parameter: 'p', op: 'contains_email' }] },
      channels: [{ type: 'email', target: 'a@example.com' }],
    }
    const preview = await t.call('POST', '/v1/alerts/preview', { body: { rule, hours: 72 } })
    expect([preview.status, preview.body.matched]).toEqual([200, expected.length])
    // A backtest evaluates only whole hours.
    t.clock.advance(7_200_000)
    const backtest = await t.call('POST', '/v1/alerts/backtest', { body: { rule, days: 7 } })
    const found = backtest.body.buckets.reduce((sum: number, one: { matchCount: number }) => sum + one.matchCount, 0)
    expect(found).toBe(expected.length)
  })
})
