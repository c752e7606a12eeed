#!/usr/bin/env node
// Prints what Redocly (recommended-strict) and Spectral (spectral:oas) find in an OpenAPI document, errors
// and warnings alike, one finding a line; prints nothing if there is nothing to find.
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import core from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'

const [path = 'openapi.json'] = process.argv.slice(2)
const source = readFileSync(path, 'utf8')

const config = await createConfig({ extends: ['recommended-strict'] })
for (const problem of await lintFromString({ source, absoluteRef: path, config })) {
  const { ruleId, message, location } = problem
  console.log(`redocly ${ruleId} at ${location[0]?.pointer}: ${message}`)
}

const spectral = new core.Spectral()
spectral.setRuleset({ extends: [rulesets.oas] })
for (const { code, message, path: place } of await spectral.run(source)) {
  console.log(`spectral ${code} at ${place.join('/')}: ${message}`)
}
