import { chartbeat } from './chartbeat.ts'
import { testDecoder } from './decoder-cases.ts'

// https://docs.chartbeat.com/
testDecoder(chartbeat, [
  {
    name: 'a heartbeat',
    url: 'https://ping.chartbeat.net/ping?h=shop.example&p=%2Fcart&u=u1&d=shop.example&g=12345&c=0.25&_',
    account: '12345',
    events: ['ping'],
    params: { p: '/cart', c: '0.25' },
  },
  {
    name: 'a headline',
    url: 'https://mab.chartbeat.com/mab_strategy/headline_testing/get_strategy/?host=x',
    events: [],
  },
  { name: 'the library', url: 'https://static.chartbeat.com/js/chartbeat.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://chartbeat.com/', events: null },
])
