import { expect, test } from 'bun:test'
import { withoutUnused } from './web-styles.ts'

test.each<[string, string, string]>([
  ['a class that a script names stays', '.m_aaaaaaaa{color:red}', '.m_aaaaaaaa{color:red}'],
  ['one that none names goes', '.m_bbbbbbbb{color:red}', ''],
  ['of a list goes what can not apply', '.m_bbbbbbbb,.own,.m_aaaaaaaa{a:b}', '.own,.m_aaaaaaaa{a:b}'],
  ['both parts of a selector are needed', '.m_aaaaaaaa .m_bbbbbbbb{a:b}', ''],
  [
    'brackets need nothing',
    '.own:not(.m_bbbbbbbb,.x),a:is(.m_bbbbbbbb){a:b}',
    '.own:not(.m_bbbbbbbb,.x),a:is(.m_bbbbbbbb){a:b}',
  ],
  [
    'rules of other files stay',
    'body,:root{--a:1}h1::before{content:"}.m_bbbbbbbb{"}',
    'body,:root{--a:1}h1::before{content:"}.m_bbbbbbbb{"}',
  ],
  ['within a condition', '@media (width>1px){.m_bbbbbbbb{a:b}.own{a:b}}', '@media (width>1px){.own{a:b}}'],
  ['a condition without rules goes', '@media print{@supports (a:b){.m_bbbbbbbb{a:b}}}', ''],
  ['a nested rule goes with its own', '.m_bbbbbbbb{&:hover{a:b}}.own{&:hover{a:b}}', '.own{&:hover{a:b}}'],
  [
    'statements and other at-rules stay',
    '@import "a;b";@keyframes m_cccccccc{0%{a:b}}@font-face{a:url(a;b)}',
    '@import "a;b";@keyframes m_cccccccc{0%{a:b}}@font-face{a:url(a;b)}',
  ],
  ['an escaped letter is no end', '.a\\{b\\,c{a:b}', '.a\\{b\\,c{a:b}'],
  ['nothing', '\n', ''],
])('unused CSS rules are removed: %s', (_name, css, kept) => {
  expect(withoutUnused(css, '{root:"m_aaaaaaaa"}')).toBe(kept)
})
