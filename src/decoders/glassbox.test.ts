import { testDecoder } from './decoder-cases.ts'
import { glassbox } from './glassbox.ts'

// https://github.com/MisterPhilip/omnibug/blob/master/src/providers/Glassbox.js
testDecoder(glassbox, [
  {
    name: 'a report',
    url: 'https://report.eu1.glassboxdigital.io/glassbox/reporting/1a2b-3c4d/cls_report?clsjsv=7.0.5&seg=Checkout&pid=p1',
    body: 'e=%7B%22type%22%3A%22click%22%7D',
    account: '1a2b-3c4d',
    events: ['cls_report'],
    params: { seg: 'Checkout', pid: 'p1', e: '{"type":"click"}' },
  },
  {
    name: "a report to the customer's host, with a compressed body",
    url: 'https://gb.shop.example/cls_report/?clsjsv=7.0.5&seg=Home',
    body: '\u001f\ufffd',
    events: ['cls_report'],
    params: { seg: 'Home', clsjsv: '7.0.5' },
  },
  {
    name: 'the library',
    url: 'https://cdn.gbqofs.com/shop/p/detector-dom.min.js',
    account: 'shop',
    kind: 'library',
    events: [''],
  },
  { name: 'the same path on another site', url: 'https://shop.example/cls_report?x=1', events: null },
])
