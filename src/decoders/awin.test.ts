import { awin } from './awin.ts'
import { testDecoder } from './decoder-cases.ts'

// https://wiki.awin.com/index.php/Advertiser_Tracking_Guide/Standard_Implementation
testDecoder(awin, [
  {
    name: 'parts and products',
    url: `https://www.awin1.com/sread.php?tt=ss&merchant=1234&ref=T1&parts=${encodeURIComponent('CG1:10.5|CG2:5')}&bd[0]=${encodeURIComponent('AW:P|1234|T1|S1|Shirt|19.9|2|SKU1|CG1|Men')}`,
    account: '1234',
    events: ['sale'],
    params: {
      'parts.CG1': '10.5',
      'parts.CG2': '5',
      'bd[0].productId': 'S1',
      'bd[0].productName': 'Shirt',
      'bd[0].price': '19.9',
      'bd[0].quantity': '2',
      'bd[0].category': 'Men',
    },
  },
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
