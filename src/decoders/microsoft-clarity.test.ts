import { testDecoder } from './decoder-cases.ts'
import { microsoftClarity } from './microsoft-clarity.ts'

const envelope = ['0.8.70', 1, 0, 2, 'proj1', 'u1', 's1', 1, 0, 0, 0, 'https://shop.example/']

// https://github.com/microsoft/clarity
testDecoder(microsoftClarity, [
  {
    name: 'an event and tags in a recording, without the recorded data',
    url: 'https://x.clarity.ms/collect',
    body: JSON.stringify({
      e: envelope,
      a: [
        [12, 24, 'Signed up'],
        [13, 34, 'plan', ['gold'], 'page', ['a', 'b']],
        [14, 9, 'secret text of a button'],
      ],
      p: [[1, 6, 'secret text of a page']],
    }),
    account: 'proj1',
    events: ['upload', 'Signed up'],
    params: { sequence: '1', sessionId: 's1', url: 'https://shop.example/', 'tags.plan': 'gold', 'tags.page': 'a,b' },
    without: ['a.0.2', 'p.0.2'],
  },
  { name: 'an uncaptured body', url: 'https://www.clarity.ms/eus2-j/collect', events: ['upload'] },
  {
    name: 'a malformed body',
    url: 'https://x.clarity.ms/collect',
    body: '{',
    events: [],
    error: 'Microsoft Clarity: the body is not JSON',
  },
  { name: 'an ID sync', url: 'https://c.clarity.ms/c.gif?ctsa=mr', events: [] },
  { name: 'the tag', url: 'https://www.clarity.ms/tag/proj1', account: 'proj1', events: [''], kind: 'library' },
  {
    name: "an advertising account's tag",
    url: 'https://www.clarity.ms/tag/uet/10000',
    account: '10000',
    events: [''],
    kind: 'library',
  },
  { name: 'the library', url: 'https://scripts.clarity.ms/0.8.70/clarity.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://clarity.microsoft.com/collect', events: null },
])
