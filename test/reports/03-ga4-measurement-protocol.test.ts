import { expect, test } from 'bun:test'
import { decodeLine } from '../../src/commands/decode.ts'
import { testApp } from '../test-app.ts'
import { describeReport, expectedOf, type ReportedRequest, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

const NAME = '03-ga4-measurement-protocol'

describeReport('a GA4 Measurement Protocol request', () => {
  test('is decoded as expected, and the validation endpoint collects nothing', () => {
    const [collected, checked] = reportLines(`${NAME}.ndjson`) as [ReportedRequest, ReportedRequest]
    const { lines } = expectedOf<{ lines: [ExpectedLine, ExpectedLine] }>(`${NAME}.expected.json`)
    expectDecoded(collected, lines[0])
    expect(decodeLine(checked)).toMatchObject({ vendor: lines[1].vendor, events: [], error: null })
  })

  test('is stored without its secret', async () => {
    await using t = await testApp()
    const { body: domain } = await t.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    await t.collect(domain.token, { hits: reportLines(`${NAME}.ndjson`) })
    await t.run('flush')
    const { body } = await t.call('GET', '/v1/events')
    expect(body.events.map(({ event }: { event: string }) => event).sort()).toEqual(['purchase', 'refund'])
    expect(JSON.stringify(body)).not.toContain('SEKRET')
  })
})
