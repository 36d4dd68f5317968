import { testDecoder } from './decoder-cases.ts'
import { newRelicBrowser } from './new-relic-browser.ts'

// https://github.com/newrelic/newrelic-browser-agent
testDecoder(newRelicBrowser, [
  {
    name: 'page attributes, loaded by script',
    url: `https://bam.nr-data.net/1/abc123?a=1001&ref=https://shop.example/&ja=${encodeURIComponent('{"plan":"gold"}')}`,
    account: '1001',
    events: ['PageView'],
    params: { ja: '{"plan":"gold"}', 'ja.plan': 'gold' },
  },
  {
    name: 'a page',
    url: 'https://bam.nr-data.net/1/NRJS-1?a=1001&v=1.322.0&t=Unnamed%20Transaction&ref=https://shop.example/checkout&be=14&fe=86',
    body: '{"ja":{"isFirstOfSession":true}}',
    account: '1001',
    events: ['PageView'],
    params: { ref: 'https://shop.example/checkout', be: '14', 'ja.isFirstOfSession': 'true' },
  },
  {
    name: 'a page view, loaded by script',
    url: 'https://bam.eu01.nr-data.net/1/abc123?a=1001&v=768&ref=https://shop.example/&jsonp=NREUM.setToken',
    account: '1001',
    events: ['PageView'],
  },
  {
    name: 'page actions',
    url: 'https://bam.nr-data.net/ins/1/NRJS-1?a=1001&v=1.322.0',
    body: JSON.stringify({
      ins: [
        { eventType: 'PageAction', actionName: 'purchase', value: 42.5 },
        { eventType: 'UserAction', action: 'click' },
      ],
    }),
    account: '1001',
    events: ['purchase', 'UserAction'],
    params: { value: '42.5' },
  },
  {
    name: 'errors',
    url: 'https://bam.nr-data.net/jserrors/1/NRJS-1?a=1001',
    body: JSON.stringify({
      err: [{ params: { exceptionClass: 'TypeError', message: 'x is not a function' }, custom: { plan: 'pro' } }],
      xhr: [{ params: {} }],
    }),
    account: '1001',
    events: ['JavaScriptError'],
    params: { exceptionClass: 'TypeError', 'custom.plan': 'pro' },
  },
  {
    name: "the library's own counters",
    url: 'https://bam.nr-data.net/jserrors/1/NRJS-1?a=1001',
    body: '{"sm":[{"params":{"name":"API"}}]}',
    events: [],
  },
  { name: 'timings', url: 'https://bam.nr-data.net/events/1/NRJS-1?a=1001', body: "bel.7;e,'load,2r", events: [] },
  { name: 'a recording', url: 'https://bam.nr-data.net/browser/blobs?type=SessionReplay', body: '[]', events: [] },
  {
    name: 'a body that is not JSON',
    url: 'https://bam.nr-data.net/ins/1/NRJS-1?a=1001',
    body: 'x',
    events: [],
    error: 'New Relic Browser: the body is not JSON',
  },
  { name: 'the library', url: 'https://js-agent.newrelic.com/nr-spa-1.322.0.min.js', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://newrelic.com/platform', events: null },
])
