import { awin } from './awin.ts'
import { testDecoder } from './decoder-cases.ts'

// https://wiki.awin.com/index.php/Advertiser_Tracking_Guide/Standard_Implementation
testDecoder(awin, [
  {
    name: 'a sale',
    url: 'https://www.awin1.com/sread.img?tt=ns&tv=2&merchant=1234&amount=42.5&ch=aw&cr=EUR&ref=T1&parts=DEFAULT:42.5',
    account: '1234',
    events: ['sale'],
    params: { ref: 'T1', parts: 'DEFAULT:42.5' },
  },
  { name: 'the library', url: 'https://www.dwin1.com/1234.js', account: '1234', events: [''], kind: 'library' },
  { name: 'a click', url: 'https://www.awin1.com/cread.php?awinmid=1234', events: null },
])
