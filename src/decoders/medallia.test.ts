import { testDecoder } from './decoder-cases.ts'
import { medallia } from './medallia.ts'

const events = JSON.stringify({
  events: [
    { event_name: 'nebula_page_view', websiteId: 202, accountId: 201, url: 'https://shop.example/' },
    { event_name: 'nebula_load_form_bycode', websiteId: 202, formId: 7 },
  ],
})
const coded = encodeURIComponent(btoa(events))

// https://developer.medallia.com/medallia-dxa/docs/introduction
testDecoder(medallia, [
  {
    name: 'survey events',
    url: `https://udc-neb.kampyle.com/egw/5/abc/track/__cool.gif?data=${coded}`,
    account: '202',
    events: ['nebula_page_view', 'nebula_load_form_bycode'],
    params: { url: 'https://shop.example/', accountId: '201' },
  },
  {
    name: 'survey events by POST',
    url: 'https://analytics-fe.digital-cloud-us.medallia.com/api/web/events',
    body: events,
    account: '202',
    events: ['nebula_page_view', 'nebula_load_form_bycode'],
  },
  {
    name: 'invalid events',
    url: 'https://udc-neb.kampyle.com/egw/5/abc/track/__cool.gif?data=abc',
    events: [],
    error: 'Medallia: the body is not JSON',
  },
  {
    name: 'the survey library',
    url: 'https://nebula-cdn.kampyle.com/us/wu/202/onsite/embed.js',
    account: '202',
    kind: 'library',
    events: [''],
  },
  {
    name: 'the recording library',
    url: 'https://dxa.shop.example/i/13001/1001/di.js',
    account: '13001/1001',
    kind: 'library',
    events: [''],
  },
  { name: 'a form', url: 'https://nebula-cdn.kampyle.com/us/wu/202/forms/7/form1.html?formId=7', events: [] },
  { name: 'a recording', url: 'https://collection.decibelinsight.net/i/13001/1001/c.json', events: [] },
  { name: "the vendor's website", url: 'https://www.medallia.com/platform/', events: null },
])
