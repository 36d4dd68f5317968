import { expect, test } from 'bun:test'
import { eventsOfFinding } from './events-of-finding.ts'

const finding = { vendor: 'GA4', key: 'ep.user', kind: 'email', domainIds: ['dom_1'], firstSeenAt: 10, lastSeenAt: 20 }

test.each<[string, Partial<typeof finding>, object]>([
  ['a parameter', {}, { vendor: 'GA4', domainId: 'dom_1', param: 'ep.user', from: 10, to: 21 }],
  ['several domains', { domainIds: ['dom_1', 'dom_2'] }, { vendor: 'GA4', param: 'ep.user', from: 10, to: 21 }],
  ['a masked key', { key: 'of j***@a***.com', domainIds: [] }, { vendor: 'GA4', from: 10, to: 21 }],
  ['a key with an equals sign', { key: 'a=b', domainIds: [] }, { vendor: 'GA4', from: 10, to: 21 }],
  [
    'no consent signal',
    { key: '$consent', kind: 'no_signal', domainIds: [] },
    { vendor: 'GA4', param: 'gcs=', from: 10, to: 21 },
  ],
  ['a denial', { key: '$consent', kind: 'after_denial', domainIds: [] }, { vendor: 'GA4', from: 10, to: 21 }],
])('the events of a finding with %s', (_name, values, search) => {
  expect(eventsOfFinding({ ...finding, ...values })).toEqual(search as never)
})
