import { expect, test } from 'bun:test'
import { withoutUnused } from './remove-unused-styles.ts'

test.each<[string, string, string]>([
  ['a class named in a script is kept', '.m_aaaaaaaa{color:red}', '.m_aaaaaaaa{color:red}'],
  ['a class named in no script is removed', '.m_bbbbbbbb{color:red}', ''],
  ['selectors that cannot apply are removed from a list', '.m_bbbbbbbb,.own,.m_aaaaaaaa{a:b}', '.own,.m_aaaaaaaa{a:b}'],
  ['both parts of a selector are required', '.m_aaaaaaaa .m_bbbbbbbb{a:b}', ''],
  [
    'classes in parentheses are not required',
    '.own:not(.m_bbbbbbbb,.x),a:is(.m_bbbbbbbb){a:b}',
    '.own:not(.m_bbbbbbbb,.x),a:is(.m_bbbbbbbb){a:b}',
  ],
  [
    'rules of other files are kept',
    'body,:root{--a:1}h1::before{content:"}.m_bbbbbbbb{"}',
    'body,:root{--a:1}h1::before{content:"}.m_bbbbbbbb{"}',
  ],
  ['within a condition', '@media (width>1px){.m_bbbbbbbb{a:b}.own{a:b}}', '@media (width>1px){.own{a:b}}'],
  ['a condition without rules is removed', '@media print{@supports (a:b){.m_bbbbbbbb{a:b}}}', ''],
  ['a nested rule is removed with its parent', '.m_bbbbbbbb{&:hover{a:b}}.own{&:hover{a:b}}', '.own{&:hover{a:b}}'],
  [
    'statements and other at-rules are kept',
    '@import "a;b";@keyframes m_cccccccc{0%{a:b}}@font-face{a:url(a;b)}',
    '@import "a;b";@keyframes m_cccccccc{0%{a:b}}@font-face{a:url(a;b)}',
  ],
  ['an escaped letter does not end a name', '.a\\{b\\,c{a:b}', '.a\\{b\\,c{a:b}'],
  ['nothing', '\n', ''],
])('unused CSS rules are removed: %s', (_name, css, kept) => {
  expect(withoutUnused(css, '{root:"m_aaaaaaaa"}')).toBe(kept)
})
