import { testDecoder } from './decoder-cases.ts'
import { quantcast } from './quantcast.ts'

// https://help.quantcast.com/hc/en-us/articles/115014002728
testDecoder(quantcast, [
  {
    name: 'an event with parameters in the path',
    url: 'https://pixel.quantserve.com/pixel;r=1;a=p-Abc_1;labels=_fp.event.Thanks;event=refresh;url=https%3A%2F%2Fshop.example%2F%3Fa%3Db%3B',
    account: 'p-Abc_1',
    events: ['refresh'],
    params: { labels: '_fp.event.Thanks', url: 'https://shop.example/?a=b;' },
  },
  {
    name: 'an image',
    url: 'https://pixel.quantserve.com/pixel/p-Abc_1.gif?labels=_fp.event.Home',
    account: 'p-Abc_1',
    events: ['load'],
    params: { labels: '_fp.event.Home' },
  },
  { name: 'an ID sync', url: 'https://cms.quantserve.com/pixel/p-Abc_1.gif?idmatch=0', events: [] },
  {
    name: 'the rules file',
    url: 'https://rules.quantcount.com/rules-p-Abc_1.js',
    account: 'p-Abc_1',
    events: [''],
    kind: 'library',
  },
  { name: 'the library', url: 'https://secure.quantserve.com/quant.js', events: [''], kind: 'library' },
  { name: 'another site', url: 'https://shop.example/pixel;a=p-1', events: null },
])
