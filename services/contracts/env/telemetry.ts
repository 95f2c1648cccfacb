import { boolean, choice, integer, pairs, port, secret, share, text, url } from './variable.ts';

const later = { source: 'additions', awaits: 'metrics and traces' } as const;

/** What every service takes to be measured: OpenTelemetry's variables mean what its specification says, and no more are known here. */
export const telemetry = {
  METRICS_PORT: port({ meaning: 'Port of the metrics, on loopback only; without it there are none.', ...later }),
  OTEL_SDK_DISABLED: boolean({ meaning: 'true sends nothing, whatever else is set.', default: 'false', ...later }),
  OTEL_SERVICE_NAME: text({ meaning: "Name in traces, instead of the service's own.", lengthMax: 255, ...later }),
  OTEL_RESOURCE_ATTRIBUTES: pairs({ meaning: 'What is said of this process with everything it sends.', ...later }),
  OTEL_TRACES_EXPORTER: choice({ meaning: 'Where traces go.', choices: ['otlp', 'console', 'none'], ...later }),
  OTEL_METRICS_EXPORTER: choice({
    meaning: 'Where metrics go.',
    choices: ['otlp', 'prometheus', 'console', 'none'],
    ...later,
  }),
  OTEL_LOGS_EXPORTER: choice({ meaning: 'Where logs go too.', choices: ['otlp', 'console', 'none'], ...later }),
  OTEL_TRACES_SAMPLER: choice({
    meaning: 'Which traces are kept.',
    default: 'parentbased_always_on',
    choices: [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    ...later,
  }),
  OTEL_TRACES_SAMPLER_ARG: share({ meaning: 'Share of the traces that a traceidratio sampler keeps.', ...later }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url({ meaning: 'Collector that all is sent to; without it nothing is sent.', ...later }),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice({
    meaning: 'How the collector is spoken to.',
    default: 'http/protobuf',
    choices: ['http/protobuf', 'http/json', 'grpc'],
    ...later,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: secret({
    meaning: 'Headers of every request to the collector.',
    pattern: /^(?=.{1,4096}$)[\w.-]+=[\x20-\x2b\x2d-\x7e]*(,[\w.-]+=[\x20-\x2b\x2d-\x7e]*)*$/,
    rule: 'a comma-separated list of <name>=<value>, at most 4096 characters',
    ...later,
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer({
    meaning: 'Deadline of a request to the collector, in milliseconds.',
    default: '10000',
    min: 1,
    max: 600_000,
    ...later,
  }),
  OTEL_EXPORTER_OTLP_COMPRESSION: choice({
    meaning: 'How requests to the collector are compressed.',
    choices: ['gzip', 'none'],
    ...later,
  }),
  OTEL_EXPORTER_OTLP_CERTIFICATE: text({ meaning: 'Path to the PEM file that vouches for the collector.', ...later }),
} as const;
