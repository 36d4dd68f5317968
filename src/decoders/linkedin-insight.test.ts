import { testDecoder } from './decoder-cases.ts'
import { linkedinInsight } from './linkedin-insight.ts'

// https://business.linkedin.com/marketing-solutions/insight-tag
testDecoder(linkedinInsight, [
  {
    name: 'a page view',
    url: 'https://px.ads.linkedin.com/collect?v=2&fmt=js&pid=101&time=1&url=https%3A%2F%2Fshop.example%2F',
    account: '101',
    events: ['page_view'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'a page view for several accounts',
    url: 'https://px.ads.linkedin.com/collect?v=2&fmt=js&pid=101%2C102&time=1',
    account: '101',
    events: ['page_view'],
    params: { pid: '101,102', 'pids.0': '101', 'pids.1': '102' },
  },
  {
    name: 'a conversion by image request',
    url: 'https://dc.ads.linkedin.com/collect/?pid=101&conversionId=202&fmt=gif',
    account: '101',
    events: ['conversion'],
    params: { conversionId: '202' },
  },
  {
    name: 'a signal for several accounts',
    url: 'https://px.ads.linkedin.com/wa/',
    body: JSON.stringify({
      pids: [101, 102],
      signalType: 'CLICK',
      url: 'https://shop.example/',
      misc: { psbState: -4 },
    }),
    account: '101',
    events: ['CLICK'],
    params: { 'pids.0': '101', 'pids.1': '102', 'misc.psbState': '-4', url: 'https://shop.example/' },
  },
  {
    name: 'a signal that is not JSON',
    url: 'https://px.ads.linkedin.com/wa/',
    body: '{"pids":',
    events: [],
    error: 'LinkedIn Insight: the body is not JSON',
  },
  {
    name: 'the repeated request for the Attribution Reporting API',
    url: 'https://px.ads.linkedin.com/attribution_trigger?pid=101&time=1',
    events: [],
  },
  {
    name: 'the library',
    url: 'https://snap.licdn.com/li.lms-analytics/insight.min.js',
    events: [''],
    kind: 'library',
  },
  { name: 'the social network', url: 'https://www.linkedin.com/collect?pid=1', events: null },
  { name: 'an ID sync', url: 'https://px.ads.linkedin.com/db_sync?pid=1', events: [] },
  {
    name: 'a server conversion',
    url: 'https://api.linkedin.com/rest/conversionEvents',
    body: '{"conversion":"urn:lla:llaPartnerConversion:123","conversionValue":{"amount":"59.9"},"eventId":"e1"}',
    events: ['conversion'],
    params: { conversion: 'urn:lla:llaPartnerConversion:123', 'conversionValue.amount': '59.9', eventId: 'e1' },
  },
  {
    name: 'several server conversions',
    url: 'https://api.linkedin.com/rest/conversionEvents',
    body: '{"elements":[{"eventId":"e1"},{"eventId":"e2"}]}',
    events: ['conversion', 'conversion'],
    params: { eventId: 'e1' },
  },
  { name: 'another API call', url: 'https://api.linkedin.com/rest/posts', body: '{}', events: null },
])
