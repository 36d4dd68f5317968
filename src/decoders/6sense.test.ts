import { sixSense } from './6sense.ts'
import { testDecoder } from './decoder-cases.ts'

// https://support.6sense.com/docs/webtag-implementation-guide
testDecoder(sixSense, [
  {
    name: 'parameters as JSON',
    url: `https://b.6sc.co/v1/beacon/img.gif?token=abc123&event=a_pageload&q=${encodeURIComponent('{"topic":"misc"}')}&m=${encodeURIComponent('{"title":"Home"')}`,
    account: 'abc123',
    events: ['a_pageload'],
    params: { q: '{"topic":"misc"}', 'q.topic': 'misc', m: '{"title":"Home"' },
  },
  {
    name: 'a page',
    url: 'https://b.6sc.co/v1/beacon/img.gif?token=abc123&visitor=v1&session=s1&event=a_pageload&isIframe=false',
    account: 'abc123',
    events: ['a_pageload'],
    params: { visitor: 'v1' },
  },
  {
    name: 'a page event',
    url: 'https://b.6sc.co/v1/beacon/img.gif?token=abc123&event=form_submit',
    account: 'abc123',
    events: ['form_submit'],
  },
  { name: "the visitor's company", url: 'https://epsilon.6sense.com/v3/company/details', events: ['company_details'] },
  { name: "the visitor's ID", url: 'https://c.6sc.co/', events: [] },
  { name: 'the library', url: 'https://j.6sc.co/j/1a2b-3c.js', account: '1a2b-3c', kind: 'library', events: [''] },
  { name: 'the library without an account', url: 'https://j.6sc.co/6si.min.js', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://6sense.com/platform/', events: null },
])
