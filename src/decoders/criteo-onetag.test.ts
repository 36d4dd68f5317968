import { criteoOneTag } from './criteo-onetag.ts'
import { testDecoder } from './decoder-cases.ts'

const call = (text: string) => encodeURIComponent(text)

// https://help.criteo.com/kb/guide/en/all-criteo-onetag-events-and-parameters-vZbzbEeY86/Steps/775825
testDecoder(criteoOneTag, [
  {
    name: 'items',
    url: `https://sslwidget.criteo.com/event?a=1234&p0=${call(`e=vb&p=${call(`[${call('i=A122&pr=44.9&q=2')},${call('i=F5')}]`)}`)}&p1=${call('e=vp&p=S1')}`,
    account: '1234',
    events: ['viewBasket', 'viewItem'],
    params: {
      'call.item.0.id': 'A122',
      'call.item.0.price': '44.9',
      'call.item.0.quantity': '2',
      'call.item.1.id': 'F5',
    },
  },
  {
    name: 'items with only IDs',
    url: `https://sslwidget.criteo.com/event?a=1234&p0=${call('e=vl&p=[S1,S2]')}`,
    account: '1234',
    events: ['viewList'],
    params: { 'call.p': '[S1,S2]', 'call.item.0.id': 'S1', 'call.item.1.id': 'S2' },
  },
  {
    name: 'events among other calls',
    url: `https://sslwidget.criteo.com/event?a=1234&v=5.23.0&p0=${call('e=exd&site_type=d')}&p1=${call('e=vc&id=T1&p=[i=S1]')}&p2=${call('e=vh')}&p3=${call('e=dis')}`,
    account: '1234',
    events: ['trackTransaction', 'viewHome'],
    params: { p0: 'e=exd&site_type=d', 'call.id': 'T1', v: '5.23.0' },
  },
  {
    name: 'an event with an unknown code',
    url: `https://widget.eu.criteo.com/event?a=1234&p0=${call('e=xyz')}`,
    account: '1234',
    events: ['xyz'],
  },
  {
    name: 'the library',
    url: 'https://dynamic.criteo.com/js/ld/ld.js?a=1234',
    account: '1234',
    events: [''],
    kind: 'library',
  },
  { name: 'an ID sync', url: 'https://gum.criteo.com/sid/json?origin=onetag', events: [] },
  { name: 'an ad auction', url: 'https://bidder.criteo.com/cdb?profileId=1', events: null },
])
