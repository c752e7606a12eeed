import { useEffect, useRef } from 'preact/hooks'
import { version } from '../../../package.json'
import type { DocumentName } from '../../document-names.ts'
import { useTerms } from '../components/explanations.tsx'
import { phrase, t, translate } from '../language.ts'
import { addressOf } from '../router.ts'

/** By what they are for, beside the API. */
function listDocuments(): readonly (readonly [DocumentName, string])[] {
  return [
    ['advertiser', t('Guide for advertisers')],
    ['publisher', t('Guide for publishers')],
    ['ad-server', t('Guide for ad servers')],
    ['client', t('Guide to the client library')],
    ['operator', t('Guide for operators')],
    ['changelog', t('What has changed')],
  ]
}

interface HelpProps {
  readonly query: URLSearchParams
}

/** What the words of the pages mean, and where there is more. */
export function Help({ query }: HelpProps) {
  const asked = query.get('term')
  const terms = useTerms()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'center' })
  }, [terms, asked])
  return (
    <>
      <div class="head">
        <h1>{t('Help')}</h1>
      </div>
      <section class="card" aria-label={t('Documents')}>
        <h2>{t('Documents')}</h2>
        <ul>
          <li>
            {phrase('{{link}}: every operation of the API, to read and to try', {
              link: <a href="docs">{t('API')}</a>,
            })}
          </li>
          {listDocuments().map(([name, title]) => (
            <li key={name}>
              <a href={addressOf(['help', name])}>{title}</a>
            </li>
          ))}
        </ul>
      </section>
      <section class="card glossary" aria-label={t('Terms')}>
        <h2>{t('Terms')}</h2>
        <dl>
          {terms.map(({ keys, labels, sentence }) => {
            const isAsked = asked !== null && keys.includes(asked)
            return (
              <div
                key={sentence}
                ref={isAsked ? place : null}
                class={isAsked ? 'asked' : undefined}
              >
                <dt>{[...new Set(labels.map(translate))].join(', ')}</dt>
                <dd>{translate(sentence)}</dd>
              </div>
            )
          })}
        </dl>
      </section>
      <p class="footnote">{t('Shelftrace, version {{version}}', { version })}</p>
    </>
  )
}
